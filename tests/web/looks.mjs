export function looks() {}

export function swap() {}

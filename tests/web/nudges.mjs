export function nudges() {}

export function internal(): void {}

export function store(): void {}

export const hidden = (): void => {};

export function Controller(path: string): ClassDecorator {
  return () => undefined;
}

export const Get =
  (path = '/'): MethodDecorator =>
  () =>
    undefined;

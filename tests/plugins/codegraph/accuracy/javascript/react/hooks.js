export function format(value) {
  return `${value}`;
}

export const useCounter = () => {
  return { label: format(0) };
};

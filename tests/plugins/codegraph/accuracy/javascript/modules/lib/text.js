function clean(text) {
  return text.trim();
}

export function upper(text) {
  return clean(text).toUpperCase();
}

export const lower = (text) => text.toLowerCase();

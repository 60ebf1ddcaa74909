export * from './text.js';
export * as math from './numbers.js';
export { lower as small } from './text.js';
export * from './deep/index.js';

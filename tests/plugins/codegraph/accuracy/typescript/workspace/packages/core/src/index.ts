import { hidden } from './hidden.js';
import { format } from './text/format.js';

export function core(): string {
  hidden();
  return format('core');
}

import { store } from './store';

export function api(): void {
  store();
}

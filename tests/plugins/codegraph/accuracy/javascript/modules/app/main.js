import { upper, small, math, deep } from '../lib/index.js';
import start from '../lib/default.js';
import anonymous from '../lib/anonymous.js';
import settings from '../lib/settings.js';
import { readFile } from 'node:fs/promises';

async function main() {
  upper('a');
  small('B');
  math.add(1, 2);
  math['subtract'](2, 1);
  start();
  anonymous();
  const lazy = await import('../lib/lazy.js');
  lazy.load();
  import('../lib/lazy.js').then(({ later }) => later());
  settings.read();
  deep();
  await readFile('/dev/null');
}

main();

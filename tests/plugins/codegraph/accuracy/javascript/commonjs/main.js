#!/usr/bin/env node
'use strict';

const fs = require('fs');
const Store = require('./lib/store');
const { slug, pad: fill } = require('./lib/util');
const api = require('./lib/api.js');
const log = require('./lib/log');
const plugin = require('./lib/plugin');
const table = require('./lib/table');
const mixed = require('./lib/mixed');

function main() {
  const store = new Store('/tmp');
  store.save('a');
  slug('x y');
  fill('x');
  api.get('/');
  api.send('/', {});
  log('done');
  plugin.install();
  table.add('row');
  fs.existsSync('/tmp');
  require('./lib/lazy')();
  mixed();
  mixed.extra();
}

main();

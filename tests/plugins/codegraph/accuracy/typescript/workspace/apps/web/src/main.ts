import { core } from '@acme/core';
import { internal } from '@acme/core/internal';
import { format } from '@acme/core/text/format';
import { Button, label } from '@acme/ui';
import { today } from '@acme/utils/dates';
import { round } from '@acme/utils/numbers';
import { legacy } from 'legacy';
import express from 'express';
import { env } from '#env';
import { api } from './lib/api.js';
import { store } from './lib/store';
import './style.css';

export function main(): void {
  core();
  internal();
  format('x');
  Button();
  label();
  today();
  round(1.5);
  legacy();
  express();
  env();
  api();
  store();
}

main();

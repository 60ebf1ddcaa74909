const { Mailer } = require('./mailer');

/** @typedef {import('./mailer').Mailer} Post */

/**
 * Sends one mail.
 * @param {Mailer} mailer
 * @param {string} text
 */
function send(mailer, text) {
  mailer.deliver(text);
  mailer.address();
}

/** @param {Mailer[]} mailers */
function all(mailers) {
  for (const mailer of mailers) mailer.deliver();
}

/**
 * @returns {Mailer}
 */
function find(cache) {
  return cache.get('mailer') || new Mailer(null);
}

/** @param {?Post} post */
function typed(post) {
  post?.deliver();
}

function found() {
  find(new Map()).deliver();
}

function unknown(thing) {
  thing.deliver();
}

module.exports = { send, all, found, typed, unknown };

function slug(text) {
  return pad(text.replace(/ /g, '-'));
}

function pad(text) {
  return text.padEnd(10);
}

module.exports = { slug, pad };

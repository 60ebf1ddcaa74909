const table = {
  rows: [],
  add(row) {
    this.check(row);
    this.rows.push(row);
  },
  check: function (row) {
    return row;
  },
};

module.exports = table;

// One name in many places: no edge beats a guessed edge.
function local() {}

export function take() {
  local();
}

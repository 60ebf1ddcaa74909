export function load() {}

export function later() {}

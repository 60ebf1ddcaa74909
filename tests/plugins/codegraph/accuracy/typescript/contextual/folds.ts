class Clock { now(): number { return 0; } add(c: Clock): Clock { return this; } }
function e(xs: Clock[]) { xs.reduce((sum, c) => sum + c.now(), 0); xs.reduce((acc, c) => acc.add(c), new Clock()).now(); }
function s(xs: Clock[]) { return xs.sort((a, b) => a.now() - b.now()); }
function p() { return new Promise((resolve, reject) => { resolve(1); reject(new Error('x')); }); }
class K { m() { return new Promise<Clock>((resolve) => { setTimeout(() => resolve(new Clock()), 1); }); } }
async function q(k: K) { (await k.m()).now(); }

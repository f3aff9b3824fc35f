import { closeSync } from 'node:fs';

closeSync(0);
setInterval(() => {}, 1000);
console.log(JSON.stringify({ type: 'log', message: 'ready' }));

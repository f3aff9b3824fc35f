process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
console.log(JSON.stringify({ type: 'log', message: 'ready' }));

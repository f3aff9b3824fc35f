process.on('SIGTERM', () => console.log(JSON.stringify({ type: 'log', message: 'got SIGTERM' })));
process.on('SIGINT', () => console.log(JSON.stringify({ type: 'log', message: 'got SIGINT' })));
setInterval(() => {}, 1000);
console.log(JSON.stringify({ type: 'log', message: 'ready' }));

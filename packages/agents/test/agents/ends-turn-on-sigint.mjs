process.on('SIGINT', () => console.log(JSON.stringify({ type: 'result', text: 'stopped' })));
setInterval(() => {}, 1000);
console.log(JSON.stringify({ type: 'log', message: 'ready' }));

setInterval(() => {}, 1000);
console.log(JSON.stringify({ type: 'log', message: 'ready' }));

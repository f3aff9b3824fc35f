process.stdin.once('data', () => console.log(JSON.stringify({ type: 'result', text: 'hasty' })));

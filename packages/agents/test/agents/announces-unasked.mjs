// Says what it can do without being asked.
console.log(JSON.stringify({ type: 'init_ack', capabilities: ['pause', 'resume'] }));
process.stdin.resume();

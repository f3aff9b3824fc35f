console.error('work_dir /nowhere: no such directory');
process.stdin.once('data', () => console.log(JSON.stringify({ type: 'error', message: 'bad work_dir' })));

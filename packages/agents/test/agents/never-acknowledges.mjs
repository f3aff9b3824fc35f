console.error('thinking about it');
process.stdin.resume();

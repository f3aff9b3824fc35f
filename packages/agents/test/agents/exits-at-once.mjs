console.error('cannot find my configuration');
process.exitCode = 3;

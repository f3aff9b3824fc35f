console.log('Welcome');
process.stdin.once('data', () => {
  console.log('Loading');
  console.log(JSON.stringify({ type: 'progress', message: 'x' }));
  console.log('plain among typed');
  console.log(JSON.stringify({ type: 'result', text: 'done' }));
  process.stdin.destroy();
});

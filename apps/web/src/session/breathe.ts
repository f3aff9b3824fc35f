/** Lets the page do what else it has to do: paint, take a key. A timer would be slow in a tab that nobody sees. */
export async function breathe(): Promise<void> {
  await new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}

// Answers each prompt with two lines of text.
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) console.log(`you said\n> ${line}`);

import { config } from 'zod/mini';
import en from 'zod/v4/locales/en.js';

/** What is wrong with a value is said in English: `zod/mini` alone has one sentence for everything. */
config(en());

/**
 * The page may not evaluate text as code, and every try is reported in the console. zod tries once, when it is loaded,
 * unless this says that it need not: so this is a file of its own, which runs before whatever the page is split into.
 */
globalThis.__zod_globalConfig = { jitless: true };

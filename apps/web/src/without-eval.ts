/**
 * The page may not evaluate text as code, and every try is reported in the console. zod tries once, when it is loaded,
 * unless this says that it need not: so this is loaded before anything that loads zod.
 */
Reflect.set(globalThis, '__zod_globalConfig', { jitless: true });

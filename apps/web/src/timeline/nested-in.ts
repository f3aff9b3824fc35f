import { createContext } from 'react';

/** Whose timeline stands inside another's; empty for the one that has the page. */
export const NestedIn = createContext('');

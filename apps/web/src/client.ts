import { concertoClient } from '@concerto/client';

/** The page's only way to the server it came from; the cookie says who we are. */
export const client = concertoClient({ url: window.location.origin });

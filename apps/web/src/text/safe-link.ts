/** Where a link leads, and whether its text says that it leads elsewhere. */
export type SafeLink = { readonly href: string; readonly host: string; readonly isMisleading: boolean };

const schemes = ['http:', 'https:', 'mailto:'];
const address = /^(?:https?:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?::\d+)?(?:[/?#]|$)/i;

/** Undefined for what a click must not do: run code, open a file, leave for an application. */
export function safeLink(href: string, text: string): SafeLink | undefined {
  const url = parsed(href);
  if (url === undefined || !schemes.includes(url.protocol)) return undefined;
  const host = url.protocol === 'mailto:' ? url.pathname : url.host;
  const said = address.exec(text.trim())?.[1]?.toLowerCase();
  const isMisleading = url.protocol !== 'mailto:' && said !== undefined && !isSameHost(said, url.hostname);
  // A name before an @ in the address is there to be taken for the host.
  return { href: url.href, host, isMisleading: isMisleading || url.username !== '' };
}

function isSameHost(said: string, host: string): boolean {
  const bare = (name: string): string => name.replace(/^www\./, '');
  return bare(said) === bare(host.toLowerCase());
}

function parsed(href: string): URL | undefined {
  try {
    return new URL(href);
  } catch {
    return undefined; // Relative, or no address at all: it leads nowhere from here.
  }
}

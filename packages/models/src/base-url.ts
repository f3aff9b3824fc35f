const VERSION_SEGMENT = /^v\d+[a-z0-9]*$/;

/** People write an address with and without its version: `https://host` and `https://host/v1` mean the same. */
export function versionedUrl(address: string, version: string): string {
  const url = new URL(address);
  const segments = url.pathname.split('/').filter((segment) => segment !== '');
  if (!segments.some((segment) => VERSION_SEGMENT.test(segment))) segments.push(version);
  url.pathname = `/${segments.join('/')}`;
  return url.href.replace(/\/$/, '');
}

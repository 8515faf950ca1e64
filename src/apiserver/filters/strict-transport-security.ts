import type { Filter } from './chain.ts';

/** Sets Strict-Transport-Security. */
export function strictTransportSecurity(directives: readonly string[]): Filter {
  const value = directives.join('; ');
  return (request, next) => {
    request.responseHeaders = { ...request.responseHeaders, 'strict-transport-security': value };
    return next(request);
  };
}

/** `max-age=SECONDS`, `includeSubDomains` or `preload`. */
export function isTransportDirective(text: string): boolean {
  return /^(max-age=\d+|includeSubDomains|preload)$/.test(text);
}

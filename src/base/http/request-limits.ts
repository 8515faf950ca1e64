/**
 * Of a request line and its headers in HTTP/1.1, as of upstream's servers; Node's own limit is 16 KiB. The command of an exec is in the
 * request line, argument by argument.
 */
export const MAX_REQUEST_HEADER_BYTES = 1024 * 1024;

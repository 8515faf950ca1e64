import { get } from 'node:https';
import { ChunkList, type Clock, type Dialer, DialingAgent, raceAbort, timeoutSignal } from '#base';

/** How the servers of an issuer are reached. */
export interface IssuerAccess {
  /** PEM. Default: the system's CAs. */
  readonly certificateAuthority?: string | undefined;
  /** Connects to the issuer. Default: directly. */
  readonly dial?: Dialer | undefined;
  readonly clock: Clock;
}

const TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;
const MAX_SUCCESS_CODE = 226;

/** Redirects are not followed, since their target is not configured. */
export async function fetchFromIssuer(
  url: string,
  { certificateAuthority, clock, dial }: IssuerAccess,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  using timeout = timeoutSignal(clock, TIMEOUT_MS);
  const { signal } = timeout;
  const answer = new Promise<string>((resolve, reject) => {
    const ca = certificateAuthority === undefined ? {} : { ca: certificateAuthority };
    const request = get(url, { ...ca, agent: dial ? new DialingAgent(dial) : false, signal, headers }, (response) => {
      if (!isSuccess(response.statusCode)) {
        response.destroy();
        return reject(new Error(`oidc: ${url} answered ${response.statusCode}`));
      }
      const chunks = new ChunkList();
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (chunks.bytes > MAX_RESPONSE_BYTES)
          response.destroy(new Error(`oidc: the answer of ${url} is longer than ${MAX_RESPONSE_BYTES} bytes`));
      });
      response.on('error', reject);
      response.on('end', () => resolve(chunks.whole().toString('utf8')));
    });
    request.on('error', reject);
    // After a protocol switch Node closes the connection without an error.
    request.on('close', () => reject(new Error(`oidc: ${url} closed the connection before it had answered`)));
  });
  // Waited for, since the time limit ends with this function.
  return await raceAbort(answer, signal);
}

function isSuccess(code = 0): boolean {
  return code >= 200 && code <= MAX_SUCCESS_CODE;
}

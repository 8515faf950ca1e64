import https from 'node:https';

/** The response of a server of a test. */
export interface Answer {
  readonly code: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
}

export interface SendOptions {
  readonly host?: string;
  readonly method?: string;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** Sends one request on its own connection, without verifying the server's certificate. */
export function sendHttps(port: number | undefined, path: string, options: SendOptions = {}): Promise<Answer> {
  const { host = '127.0.0.1', method = 'GET', body = '', headers = {} } = options;
  return new Promise((resolve, reject) => {
    const request = https.request({ host, port, path, method, headers, rejectUnauthorized: false, agent: false });
    request.once('response', async (response) => {
      let text = '';
      try {
        for await (const chunk of response) text += String(chunk);
        resolve({ code: response.statusCode ?? 0, headers: response.headers, body: text });
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Bytes as the text in which certificates and keys are passed around. */
export function encodePem(type: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${type}-----\n${lines.join('\n')}\n-----END ${type}-----\n`;
}

/** The bytes of the first block of a type; undefined when there is none. */
export function decodePem(type: string, text: string): Uint8Array | undefined {
  const match = new RegExp(`-----BEGIN ${type}-----([^-]*)-----END ${type}-----`).exec(text);
  return match === null ? undefined : Buffer.from(match[1]!.replace(/\s/g, ''), 'base64');
}

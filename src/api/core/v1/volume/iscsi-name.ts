const EUI = /^eui.[0-9A-Za-z]{16}$/;
const NAA = /^naa.[0-9A-Za-z]{32}$/;
const AUTHORITY = /iqn\.\d{4}-\d{2}\../;

/** The format of an initiator or target name by its prefix; undefined for an unknown one. */
export function iscsiNameFormat(name: string): 'iqn' | 'eui' | 'naa' | undefined {
  const format = name.slice(0, 3);
  return format === 'iqn' || format === 'eui' || format === 'naa' ? format : undefined;
}

export function isISCSIName(name: string): boolean {
  switch (iscsiNameFormat(name)) {
    case 'iqn':
      return isIqn(name);
    case 'eui':
      return EUI.test(name);
    case 'naa':
      return NAA.test(name);
    default:
      return false;
  }
}

/** Whether a text ends as in `iqn.2001-04.com.example:storage`, with any prefix. Split instead of a regular expression, which would be quadratic. */
function isIqn(name: string): boolean {
  const parts = afterLast(name, /[,;*&$|\s]/).split(':');
  const hasText = parts.at(-1) !== '';
  return parts.some((part, i) => {
    const isFollowed = i < parts.length - 2 || (i === parts.length - 2 && hasText);
    return isFollowed && AUTHORITY.test(afterLast(part, /[^0-9A-Za-z\-.]/));
  });
}

function afterLast(text: string, separator: RegExp): string {
  return text.split(separator).at(-1) ?? '';
}

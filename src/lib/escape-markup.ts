/** Text as HTML, XML and SVG hold it, in an element or in an attribute between double quotes. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Markup has no place for control characters other than tab, line feed and carriage return, not even escaped. */
const UNREPRESENTABLE = /[^\P{Cc}\t\n\r]/gu;

/** Characters that markup cannot hold become U+FFFD. */
export function escapeMarkup(text: string): string {
  return text.replaceAll(UNREPRESENTABLE, '\ufffd').replaceAll(/[&<>"']/g, (char) => entities[char] ?? char);
}

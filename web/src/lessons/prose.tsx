/** Text of lessons: paragraphs with `code` and *emphasis*. */

const MARKS = /(`[^`]+`|\*[^*]+\*)/;

/** One line of text. */
export function Inline({ text }: { text: string }) {
  return (
    <>
      {text.split(MARKS).map((part) => {
        if (part.startsWith("`")) return <code>{part.slice(1, -1)}</code>;
        if (part.startsWith("*")) return <em>{part.slice(1, -1)}</em>;
        return part;
      })}
    </>
  );
}

/** Paragraphs, which empty lines separate. */
export function Prose({ text }: { text: string }) {
  return (
    <>
      {text
        .trim()
        .split(/\n\s*\n/)
        .map((paragraph) => (
          <p>
            <Inline text={paragraph} />
          </p>
        ))}
    </>
  );
}

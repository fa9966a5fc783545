import { useState } from "preact/hooks";

/** Text that is made to be pasted elsewhere. */
export function Copyable({ label, text }: { label: string; text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch {
      // no permission: the text can still be selected
    }
  };
  return (
    <figure class="copyable">
      <figcaption>
        {label}
        <button type="button" class="quiet" aria-label={`Copy ${label}`} onClick={copy}>
          {copied ? "Copied" : "Copy"}
        </button>
      </figcaption>
      <pre tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
    </figure>
  );
}

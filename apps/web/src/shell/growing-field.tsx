import { type ReactNode, type Ref, type TextareaHTMLAttributes, useEffect, useImperativeHandle, useRef } from 'react';

type Props = Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value'> & {
  readonly value: string;
  readonly fieldRef?: Ref<HTMLTextAreaElement | null>;
};

/** A text field as high as its text, up to what the style sheet allows. */
export function GrowingField({ fieldRef, value, placeholder, ...rest }: Props): ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  useImperativeHandle<HTMLTextAreaElement | null, HTMLTextAreaElement | null>(fieldRef, () => field.current, []);
  useEffect(() => {
    const element = field.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight + 2}px`;
    // What stands there while nothing is written takes its room too.
  }, [value, placeholder]);
  return <textarea ref={field} rows={1} value={value} placeholder={placeholder} {...rest} />;
}

//! What the waits for one event have in common, the text between their numbers, so that most are read by comparing.

use crate::trace::fields::leading;
use crate::trace::line_verdict::Broken;
use crate::trace::readers::oracle::oracle_waits::{Kind, Pair, Parameter, Wait};

/// Forms that are kept: a trace has few events that come often.
const FORMS_AT_MOST: usize = 8;
/// `ela`, three parameters, `obj#` and `tim`.
const NUMBERS: usize = 6;
/// What every wait begins with.
const BEGIN: &[u8] = b"WAIT #";
/// What lies between the cursor and the name of the event.
const NAME: &[u8] = b": nam='";

/// The forms that were met, the last one that fitted in front.
#[derive(Debug, Default)]
pub struct WaitForms {
    forms: Vec<Form>,
}

/// The text of a wait up to each of its numbers, from behind its cursor on: `: nam='db file sequential read' ela= `,
/// ` file#=`. The first number is `ela`; of the others it is known which they are.
#[derive(Debug)]
struct Form {
    texts: Vec<Vec<u8>>,
    event_length: usize,
    kind: Option<Kind>,
    parameters: [Option<usize>; 3],
    numbered: bool,
    tim: Option<usize>,
}

/// The numbers of a line that fits: where they begin and end, and what they are.
type Numbers = [(usize, usize, i64); NUMBERS];

impl WaitForms {
    /// All of a line, or the rule that it breaks: as [`Wait::of`] says, whose word it takes for what has no form yet.
    #[inline]
    pub fn read<'a>(&mut self, line: &'a [u8]) -> Result<Wait<'a>, Broken> {
        let mut numbers = [(0, 0, 0); NUMBERS];
        if let Some(at) = self.forms.iter().position(|form| form.fits(line, &mut numbers)) {
            self.forms.swap(0, at);
            return Ok(self.forms[0].wait(line, &numbers));
        }
        let wait = Wait::of(line)?;
        self.learn(line, &wait);
        Ok(wait)
    }

    fn learn(&mut self, line: &[u8], wait: &Wait<'_>) {
        let known = self.forms.iter().any(|form| form.event() == wait.event);
        if !known && let Some(form) = Form::of(line, wait) {
            self.forms.truncate(FORMS_AT_MOST - 1);
            self.forms.insert(0, form);
        }
    }
}

impl Form {
    /// The form of a wait that was read; None where it is not as Oracle writes most of them.
    fn of(line: &[u8], wait: &Wait<'_>) -> Option<Form> {
        let name = line.windows(NAME.len()).position(|text| text == NAME)?;
        let (mut from, mut at) = (name, name + NAME.len() + wait.event.len() + 1);
        let (kind, numbered) = (wait.kind, wait.numbered);
        let event_length = wait.event.len();
        let mut form =
            Form { texts: Vec::new(), event_length, kind, parameters: [None; 3], numbered, tim: None };
        while let Some(pair) = Pair::next(line, at).ok()? {
            match (form.texts.len(), pair.key) {
                (NUMBERS.., _) => return None,
                (0, _) | (_, b"obj#") => {}
                (index, b"tim") => form.tim = Some(index),
                (index, _) => *form.parameters.get_mut(index - 1)? = Some(index),
            }
            form.texts.push(line[from..pair.start].to_vec());
            (from, at) = (pair.end, pair.end);
        }
        Some(form)
    }

    fn event(&self) -> &[u8] {
        &self.texts[0][NAME.len()..][..self.event_length]
    }

    /// Whether a line is this text and numbers, and nothing else.
    #[inline]
    fn fits(&self, line: &[u8], numbers: &mut Numbers) -> bool {
        let Some(rest) = line.strip_prefix(BEGIN) else { return false };
        let (_, digits) = leading(rest);
        let mut at = BEGIN.len() + digits;
        for (text, number) in self.texts.iter().zip(numbers) {
            let start = at + text.len();
            if line.get(at..start) != Some(text) {
                return false;
            }
            let (value, digits) = leading(&line[start..]);
            at = start + digits;
            match i64::try_from(value) {
                Ok(value) if digits > 0 => *number = (start, at, value),
                _ => return false,
            }
        }
        digits > 0 && at == line.len()
    }

    #[inline]
    fn wait<'a>(&self, line: &'a [u8], numbers: &Numbers) -> Wait<'a> {
        let (first, _, ela) = numbers[0];
        let name = first - self.texts[0].len();
        let event = name + NAME.len();
        let parameter = |index: usize| {
            let (start, end, value) = numbers[index];
            Parameter { text: &line[start..end], value: Some(value) }
        };
        Wait {
            cursor: &line[BEGIN.len()..name],
            event: &line[event..event + self.event_length],
            kind: self.kind,
            ela,
            parameters: self.parameters.map(|index| index.map(parameter)),
            numbered: self.numbered,
            tim: self.tim.map(|index| numbers[index].2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const READ: &str = "WAIT #140386304541280: nam='db file sequential read' ela= 977 file#=7 block#=29 blocks=1 obj#=8 tim=13775";

    #[test]
    fn a_line_like_one_before_is_read_by_its_form() {
        let mut forms = WaitForms::default();
        forms.read(READ.as_bytes()).unwrap();
        let line = READ.replace("977", "1234567").replace("#=29", "#=4000123").replace("#1403863", "#");
        let mut numbers = [(0, 0, 0); NUMBERS];
        assert!(forms.forms[0].fits(line.as_bytes(), &mut numbers));
        let wait = forms.read(line.as_bytes()).unwrap();
        assert_eq!((wait.cursor, wait.ela, wait.tim), (&b"04541280"[..], 1_234_567, Some(13_775)));
        assert_eq!(wait.parameters.map(|each| each.unwrap().value), [Some(7), Some(4_000_123), Some(1)]);
    }

    #[test]
    fn forms_are_few_and_one_an_event() {
        let mut forms = WaitForms::default();
        for round in 0..3 {
            for event in 0..20 {
                let line = format!("WAIT #1: nam='event {event}' ela= {round} obj#=-{event} tim=9");
                assert_eq!(forms.read(line.as_bytes()).unwrap().ela, round);
            }
            assert_eq!(forms.forms.len(), FORMS_AT_MOST);
        }
        let events: std::collections::BTreeSet<&[u8]> = forms.forms.iter().map(Form::event).collect();
        assert_eq!(events.len(), FORMS_AT_MOST);
    }

    fn pair() -> impl Strategy<Value = String> {
        let key = "(ela|tim|obj#|p1|file#|driver id|#bytes|name\\|mode|)";
        let value = "(0|7|-1|007|123456789|13775208230366|18446744073709551615|99999999999999999999|x|)";
        (key, "={0,1} {0,2}", value).prop_map(|(key, equals, value)| format!("{key}{equals}{value}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn whatever_came_before_a_line_is_read_as_alone(
            lines in prop::collection::vec(
                ("WAIT #(7|140386304541280|0|)", "(: nam='|:  nam='|:nam=')", "(db file sequential read|a|b c)", "'{0,1}",
                 prop::collection::vec(pair(), 0..8), " {0,2}"),
                1..12,
            )
        ) {
            let mut forms = WaitForms::default();
            for (begin, name, event, quote, pairs, end) in lines {
                let line = format!("{begin}{name}{event}{quote} {}{end}", pairs.join(" "));
                let alone = format!("{:?}", Wait::of(line.as_bytes()));
                prop_assert_eq!(format!("{:?}", forms.read(line.as_bytes())), alone, "{}", line);
            }
        }
    }
}

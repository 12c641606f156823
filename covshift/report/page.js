'use strict';
// The page: sections, tables and where the charts go. Every number comes from the JSON; an element that
// shows one keeps it in data-value and shows it rounded. Texts with numbers are the JSON's own.

const report = JSON.parse(document.getElementById('data').textContent);
const comparison = report.kind === 'demo' ? report.data.comparison
                 : report.kind === 'compare' ? report.data : null;
const diagnosis = report.kind === 'diagnose' ? report.data : report.data.diagnosis;
const advice = diagnosis.recommendation;
const trust = advice.trust;

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'class') element.className = value; else element.setAttribute(key, value);
  }
  element.append(...children.map(c => typeof c === 'object' ? c : document.createTextNode(String(c))));
  return element;
};
const number = (value, form) => make('span', {'data-value': JSON.stringify(value)}, form(value));
const main = document.getElementById('main');
main.textContent = '';

// --- glossary: the first mention of a term in each part is explained on hover and focus
const GLOSSARY = {
  'target': 'The new rows, whose labels are to be predicted.',
  'held-out': 'Rows that the fit in question has not seen: each training row is predicted by a fit without it.',
  'training support': 'Training rows nearby. A new row without them is less like the training rows than all but 0.5% of these are like each other.',
  'effective sample size': 'The number of equally weighted rows that would tell as much as the weighted training rows.',
  'density ratio': 'How many times likelier a row is in the target than in training: the weight of a training row.',
  'domain AUC': 'How often a classifier tells a new row from a training row: 0.5 is chance, 1 is always.',
  'p-value': 'How often chance alone would make two samples of the same kind look as different as these.',
  'power of the test': 'The share of small changes, by half a standard deviation, that the test would have noticed. Below 80% it is no evidence that nothing has changed.',
  'symmetric KL': 'How far two distributions are apart, by the density ratio: 0 if they are the same; it has no upper limit.',
  'binned KL': 'The same from shares of the rows in bins: it also sees a change of spread or shape.',
  'view': 'A group of columns that is judged as a whole; here mostly one column.',
  'Brier score': 'The mean squared distance of the predicted probabilities from what happened: 0 is perfect.',
  'log loss': 'The mean surprise at the true label: 0 is perfect, 1 bit is a coin, more is worse than one.',
  'error rate': 'The share of rows whose likeliest class is not their label.',
  'standard error': 'By how much an estimate would typically change with other rows of the same kind.',
  '95% interval': '1.96 standard errors to either side: it holds the true value in about 95 of 100 cases, if what it assumes holds.',
  'calibration error': 'The mean distance between how sure a method is and how often it is right.',
  'lambda': 'The strength of the penalty on large weights: larger is simpler and more cautious.',
  'assumption': 'What a method assumes about the shift: that it ignores it, weights by it, or trusts some views.',
  'duality gap': 'How far the training problem’s solution can be from the best one at most.',
  'game value': 'The worst loss over all labels that agree with what training has shown.',
  'promised bound': 'A loss on the target that is exceeded with a probability of at most delta.',
  'tied': 'Not significantly behind the best.',
  'auto': 'covshift’s default: tries several methods and mixes them by what held-out rows show.',
  'lr': 'Logistic regression: trains as if there were no shift.',
  'iw': 'Importance weighting: logistic regression on weighted training rows.',
  'robust': 'Robust bias-aware classification: sure only where there are training rows.',
  'robust-view': 'The same, but it trusts the views that hardly moved.',
  'tempered': 'robust with as much caution as held-out rows justify.',
  'overlap': 'robust where the samples do not overlap, logistic regression where they do.',
};
const byLength = Object.keys(GLOSSARY).sort((a, b) => b.length - a.length);
const METHOD_TERMS = ['auto', 'lr', 'iw', 'robust', 'robust-view', 'tempered', 'overlap'];
const pattern = new RegExp('(?<![\\w-])(' + byLength.filter(t => !METHOD_TERMS.includes(t)).join('|') + ')(?![\\w-])', 'gi');
const termId = term => 'term-' + term.replace(/\W/g, '-');
let mentioned = new Set();
const term = (shown, name) => make('span', {class: 'term', tabindex: 0, 'aria-describedby': termId(name)}, shown);
// The text as nodes, in which terms are explained; a text of the page or the program, not of the data.
const explained = text => String(text).split(pattern).filter(s => s !== '').map(part => {
  const name = byLength.find(t => t.toLowerCase() === part.toLowerCase());
  if (!name || METHOD_TERMS.includes(name) || mentioned.has(name)) return document.createTextNode(part);
  mentioned.add(name);
  return term(part, name);
});
const methodName = name => METHOD_TERMS.includes(name) ? term(name, name) : document.createTextNode(name);

const tooltip = document.getElementById('tooltip');
const explain = event => {
  const of = event.target.closest && event.target.closest('.term');
  tooltip.hidden = !of;
  if (!of) return;
  tooltip.textContent = document.getElementById(of.getAttribute('aria-describedby')).textContent;
  const box = of.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  tooltip.style.left = Math.max(12, Math.min(box.left, width - tooltip.offsetWidth - 12)) + scrollX + 'px';
  tooltip.style.top = box.bottom + scrollY + 6 + 'px';
};
for (const kind of ['mouseover', 'focusin']) document.addEventListener(kind, explain);
for (const kind of ['mouseout', 'focusout']) document.addEventListener(kind, () => { tooltip.hidden = true; });
document.addEventListener('keydown', event => { if (event.key === 'Escape') tooltip.hidden = true; });

// --- parts: closed until wanted; their charts are drawn when they open
const drawn = [];
const startCharts = box => drawn.filter(e => box.contains(e.box)).forEach(e => e.draw());
const part = (id, title, takeaway, explanation) => {
  mentioned = new Set();
  const box = make('details', {id, class: 'part'},
                   make('summary', {}, make('h2', {}, title), ...(takeaway ? [make('span', {}, ...takeaway)] : [])));
  if (explanation) box.append(make('p', {class: 'muted'}, ...explained(explanation)));
  box.addEventListener('toggle', () => { if (box.open) { startCharts(box); fitScrolls(); } });
  main.append(box);
  return box;
};
const fold = (parent, title) => {
  const box = make('details', {}, make('summary', {}, title));
  box.addEventListener('toggle', fitScrolls);
  parent.append(box);
  return box;
};

// --- charts: drawn again when the theme or the width changes. `says`: the chart in words.
const chart = (parent, options, kind, says, title) => {
  const box = make('div', {class: 'chart ' + kind, role: 'img', 'aria-label': says});
  const figure = make('div', {class: 'figure'}, ...(title ? [make('h3', {}, title)] : []), box);
  parent.append(figure);
  const entry = {box, options, instance: null, draw: () => {
    if (box.offsetWidth === 0) return;  // in a closed part
    if (!entry.instance) entry.instance = echarts.init(box, null, {renderer: 'svg'});
    entry.instance.resize();
    entry.instance.setOption(entry.options(theme()), true);
  }};
  drawn.push(entry);
  entry.draw();
  return entry;
};
const redraw = () => drawn.forEach(e => e.draw());

// --- tables: columns are [heading, row => value, form]; form: text, a function, or how to round. The first
// column names the row. `mark`: the row to stand out; `doubt`: the row and column that mean little.
const numeric = text => text !== '' && Number.isFinite(Number(text));
const table = (parent, id, caption, columns, rows, mark, doubt) => {
  const head = make('tr', {}, ...columns.map(([name, get, form]) => {
    const text = (form === 'text' || form === 'method') && !rows.every(r => numeric(get(r)));
    return make('th', {scope: 'col', class: (text ? 'text' : '') + (/\S{17}/.test(name) ? ' long' : '')},
                ...(id === 'unsupported-table' || id === 'label-table' ? [name] : explained(name)));
  }));
  const body = rows.map(row => {
    const line = make('tr', {}, ...columns.map(([heading, get, form], k) => {
      const value = get(row);
      const tag = k === 0 ? 'th' : 'td', scope = k === 0 ? {scope: 'row'} : {};
      if (form === 'text' || form === 'method') {
        const kind = numeric(value) ? '' : value.length > 24 ? 'text long' : 'text';
        return make(tag, {class: kind, ...scope}, form === 'method' ? methodName(value) : value);
      }
      const cell = make(tag, scope, typeof form === 'function' && value !== null ? form(value) : short(value));
      cell.dataset.value = JSON.stringify(value === undefined ? null : value);
      if (doubt && doubt(row, heading)) cell.className = 'doubtful';
      return cell;
    }));
    if (mark && mark(row)) line.className = 'best';
    return line;
  });
  const grid = make('table', {id}, make('caption', {}, make('span', {}, ...explained(caption))),
                    make('thead', {}, head), make('tbody', {}, ...body));
  const scroll = make('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption}, grid);
  scroll.addEventListener('scroll', () => fitScroll(scroll));
  parent.append(make('div', {}, make('p', {class: 'hint'}, 'There are more columns: scroll sideways →'), scroll));
};
const fitScroll = box => {
  const hidden = box.scrollWidth - box.clientWidth;
  box.parentElement.classList.toggle('wide', hidden > 2);
  box.classList.toggle('more', hidden > 2 && box.scrollLeft < hidden - 2);
};
const fitScrolls = () => document.querySelectorAll('.scroll').forEach(fitScroll);
const whole = x => String(x);
// As many decimals as two digits of the error have.
const estimate = e => {
  if (e.value === null) return '–';
  if (!(e.standard_error > 1e-9 * Math.max(1, Math.abs(e.value)))) return short(e.value);  // rounding
  const decimals = Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(e.standard_error))));
  return `${e.value.toFixed(decimals)} ± ${e.standard_error.toFixed(decimals)}`;
};

// A command breaks between words only.
const command = (id, text) => make('code', {id}, ...text.split(/( )/).map(word =>
    word === ' ' ? ' ' : make('span', {}, word)));

// --- the first screen
const ANSWERS = {yes: '✓ Yes', partly: '◐ Partly', no: '✕ No'};
document.title = 'covshift: ' + report.title;
const gauge = (low, high, at, training) => {
  const bar = make('div', {class: 'gauge', 'aria-hidden': 'true'});
  const put = (tag, left, width) => {
    const mark = make(tag);
    mark.style.left = 100 * left + '%';
    if (width !== undefined) mark.style.width = 100 * width + '%';
    bar.append(mark);
  };
  put('i', low, high - low);
  put('u', training);
  put('b', at);
  return bar;
};
const summary = () => {
  mentioned = new Set();
  const who = comparison ? 'this model' : report.kind === 'estimate' ? 'this classifier' : 'a model of these data';
  const good = make('div', {class: 'card'}, make('h2', {}, 'How good will it be there?'),
                    make('p', {class: 'big', id: 'performance'}, trust.performance));
  const e = trust.expected;
  if (e && e.reliable) {
    good.append(gauge(e.low, e.high, e.accuracy, e.training),
                make('p', {class: 'scale', 'aria-hidden': 'true'}, make('span', {}, 'never'), make('span', {}, 'always right')),
                make('p', {class: 'scale', 'aria-hidden': 'true'}, '▌ new rows  ▯ training rows'));
  }
  good.append(make('p', {class: 'muted', id: 'basis'}, ...explained(trust.basis)));
  const next = make('div', {class: 'card'}, make('h2', {}, 'What to do next'), make('p', {id: 'next'}, trust.next));
  if (advice.command) next.append(command('command', advice.command));
  if (trust.answer !== 'yes' && advice.label_first.length > 0) next.append(labelButton());
  const share = make('div', {class: 'gauge share', 'aria-hidden': 'true'}, make('i'));
  share.firstChild.style.width = 100 * diagnosis.support.share + '%';
  const why = make('div', {class: 'card'}, make('h2', {}, 'What is the evidence?'), share,
                   make('p', {class: 'scale', 'aria-hidden': 'true'}, make('span', {}, 'new rows unlike training'),
                        make('span', {}, 'all')),
                   make('ul', {id: 'evidence'}, ...trust.evidence.map(x => make('li', {}, x))));
  main.append(make('section', {id: 'summary', class: 'hero ' + trust.answer, 'aria-labelledby': 'question'},
      make('h1', {id: 'question'}, `Can ${who} be trusted on the new data?`),
      make('p', {class: 'muted', id: 'subtitle'}, report.title + ' · ', number(diagnosis.train, count), ' training rows, ',
           number(diagnosis.target, count), ' new rows'),
      make('div', {class: 'answer'}, make('span', {class: 'badge', id: 'answer'}, ANSWERS[trust.answer]),
           make('p', {class: 'headline', id: 'headline'}, trust.headline)),
      make('div', {class: 'cards'}, good, next, why)));
};

// --- any classifier: estimates with intervals
const estimates = () => {
  const found = report.data;
  const box = part('estimates', 'How good it is on the new rows',
      [number(found.rows, count), ' labelled rows, worth ', number(found.effective_sample_size, x => x.toFixed(0)), ' new ones'],
      'Estimated from labelled rows that the classifier was not fitted to. This holds if equal rows have equal labels in both ' +
      'samples. Use doubly_robust; confidence is a heuristic whose interval is too short.');
  if (!found.can_tell) box.append(make('p', {id: 'cannot-tell'}, `It cannot be estimated: ${found.reason}.`));
  else {
    table(box, 'estimates-table', `Estimates with ${percent(found.level)} intervals; ★ recommended`, [
      ['score', e => e.metric, 'text'], ['estimate', e => e.value], ['from', e => e.low], ['to', e => e.high],
      ['method', e => e.method, 'text'], ['effective sample size', e => e.effective_sample_size]], found.estimates,
      e => e.method === 'doubly_robust');
  }
  if (found.concept) box.append(make('p', {id: 'concept'}, found.concept.statement));
};

// The metric of the comparison as a key of METRICS.
const metricKey = () => comparison.metric === 'log-loss' ? 'log_loss_bits' : comparison.metric;

const reasons = () => {
  const box = part('why', 'Why', [advice.summary]);
  if (comparison) box.append(make('p', {id: 'statement'}, ...explained(comparison.statement)));
  else box.append(make('p', {id: 'statement'}, ...explained(advice.why)));
  box.append(make('ul', {id: 'reasons'}, ...advice.reasons.map(x => make('li', {}, ...explained(x.text)))));
};

// --- where
const moved = v => Math.max(v.kl, v.kl_binned);
const where = () => {
  const order = [...diagnosis.views].sort((a, b) => moved(b) - moved(a));
  const still = order.filter(v => v.stable).length;
  const box = part('where', 'What moved',
      diagnosis.shift ? [number(order.length - still, count), ' of ', number(order.length, count),
                         order.length === 1 ? ' view' : ' views']
                      : ['no more than chance explains'],
      `How far the two samples are apart in each view. The symmetric KL of the ${diagnosis.ratio} density ratio is what ` +
      'robust-view goes by; the binned KL also sees a change of shape. Beyond the dashed line a view counts as moved. ' +
      'The axis is logarithmic.');
  const bars = chart(box, viewBars(order, diagnosis.view_threshold, diagnosis.ratio), '',
                     'Bars of how far each view moved, with the threshold; the table of views has the numbers.');
  bars.box.style.height = Math.max(190, 100 + 34 * Math.min(25, order.length)) + 'px';
  table(fold(box, `Table of the views`), 'views-table', 'Views, the most shifted first', [
    ['view', v => v.name, 'text'], ['symmetric KL', v => v.kl], ['binned KL', v => v.kl_binned],
    ['hardly moved', v => v.stable ? 'yes' : 'no', 'text']], order);

  const most = [...diagnosis.distributions].sort((a, b) => moved(b) - moved(a));
  const next = part('distributions', 'Both distributions', ['each column, before and now'],
      'Shares of the rows: training, target, and training weighted by the density ratio (dashed), which should ' +
      'look like the target. What lies outside the range drawn is in the outer bins.');
  const grid = make('div', {class: 'grid'});
  next.append(grid);
  let shown = 0;
  const more = some => {
    for (const f of most.slice(shown, shown + some)) {
      chart(grid, distribution(f), 'small', `Shares of the rows by ${f.name}: training, target, weighted training.`, f.name);
    }
    shown = Math.min(most.length, shown + some);
  };
  more(6);
  if (shown < most.length) {
    const button = make('button', {type: 'button', id: 'more'}, 'Show more columns');
    button.addEventListener('click', () => { more(12); if (shown === most.length) button.remove(); });
    next.append(make('div', {class: 'controls'}, button));
  }
  table(fold(next, 'Table of the columns'), 'distributions-table', 'Columns, the most shifted first', [
    ['column', f => f.name, 'text'], ['symmetric KL', f => f.kl], ['binned KL', f => f.kl_binned],
    ['its standard error without shift', f => f.kl_binned_error]], most);
  const means = [...diagnosis.features].sort((a, b) => Math.abs(b.before) - Math.abs(a.before)).slice(0, 200);
  table(fold(next, 'Means before and after weighting'), 'means-table',
        'Means of the encoded columns; “apart” is the distance to the target mean in standard deviations', [
    ['column', m => m.name, 'text'], ['training', m => m.train], ['weighted', m => m.weighted],
    ['target', m => m.target], ['apart', m => m.before], ['after weighting', m => m.after]], means);
};

// --- how bad
const bad = () => {
  const box = part('bad', 'Weights and support',
      [number(diagnosis.support.share, percent), ' of the new rows without training rows nearby'],
      'Weights far from 1 mean that few training rows stand for much of the target. Rows without training support lie ' +
      'where training data do not reach: no method can know the labels there.');
  const facts = [
    ['Domain AUC', {value: diagnosis.domain_auc, standard_error: diagnosis.domain_auc_standard_error}, estimate],
    ['p-value', diagnosis.p_value, short],
    ...diagnosis.power === null ? [] : [['Power of the test', diagnosis.power, percent]],
    ['Effective sample size', diagnosis.effective_sample_size, x => x < 1000 ? x.toFixed(1) : count(x)],
    ['New rows without training support', diagnosis.support.share, percent],
    ['The same by chance', diagnosis.support.expected, percent]];
  box.append(make('dl', {id: 'facts'}, ...facts.flatMap(([name, value, form]) =>
      [make('dt', {}, ...explained(name)), make('dd', {}, number(value, form))])));
  const pair = make('div', {class: 'pair'});
  box.append(pair);
  chart(pair, weightBars(diagnosis.weights, diagnosis.train), '', 'Histogram of the weights of the training rows.',
        'Weights of the training rows');
  if (diagnosis.scatter) {
    chart(pair, scatter(diagnosis.scatter), '', 'Training and new rows as points over what moved most.',
          'A sample of the rows, on what moved most');
  }
  table(fold(box, 'Heaviest training rows'), 'weights-table', 'Share of the total weight', [
    ['training row', w => w.row, whole], ['share', w => w.share, percent]], diagnosis.largest_weights);
};

// --- rows to look at, as tables and as CSV files made here
const ids = rows => rows.length > 0 && rows[0].ids ? Object.keys(rows[0].ids) : [];
const csvField = value => {
  let text = String(value);
  if (/^[=+\-@\t\r]/.test(text) && !numeric(text)) text = "'" + text;  // not a formula in a spreadsheet
  return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
};
const download = (name, rows) => {
  const text = rows.map(row => row.map(csvField).join(',') + '\r\n').join('');
  const link = make('a', {download: name, href: URL.createObjectURL(new Blob(['\ufeff' + text], {type: 'text/csv'}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
const csvButton = (id, label, name, rows) => {
  const button = make('button', {type: 'button', id}, label);
  button.addEventListener('click', () => download(name, rows()));
  return button;
};
const labelRows = () => {
  const rows = advice.label_first, names = ids(rows);
  return [['row', ...names, 'stands_for', ...rows[0].values.map(v => v.name)],
          ...rows.map(r => [r.row, ...names.map(n => r.ids[n]), r.represents, ...r.values.map(v => v.value)])];
};
let labelButtons = 0;
const labelButton = () => csvButton('download-label' + (labelButtons++ || ''), 'Rows to label first (CSV)',
                                    'rows-to-label-first.csv', labelRows);
const listedRows = () => {
  const listed = diagnosis.support.listed, names = Object.keys(listed.ids || {});
  return [['row', ...names, 'distance'],
          ...listed.row.map((row, i) => [row, ...names.map(n => listed.ids[n][i]), listed.distance[i]])];
};
const rowTable = (parent, id, caption, rows, extra) => {
  if (rows.length === 0) return;
  table(parent, id, caption, [
    ['new row', r => r.row, whole], ...extra, ...ids(rows).map(n => [n, r => r.ids[n], 'text']),
    ...rows[0].values.map((v, k) => [v.name, r => r.values[k].value, 'text'])], rows);
};
const rowsToSee = () => {
  const {support} = diagnosis, label = advice.label_first;
  if (support.rows === 0 && label.length === 0) return;
  const box = part('rows', 'Rows to look at', [number(support.rows, count), ' new rows without training rows nearby'],
      'Rows are counted from 1, without the heading of the file. The files have them too, the farthest first, at most 5,000.');
  const buttons = make('div', {class: 'controls'});
  box.append(buttons);
  if (label.length > 0) buttons.append(labelButton());
  if (support.rows > 0) {
    buttons.append(csvButton('download-unsupported', 'Rows without support (CSV)', 'rows-without-support.csv', listedRows));
  }
  rowTable(box, 'label-table', 'Rows to label first: they stand for the most others', label,
           [['stands for', r => r.represents, percent]]);
  rowTable(box, 'unsupported-table', 'The farthest rows without training support', support.examples,
           [['distance (1: the usual limit)', r => r.distance]]);
};

// --- methods: the recommended one first, and marked everywhere
const recommended = comparison ? comparison.recommended : null;
const inOrder = list => [...list].sort((a, b) => (b.method === recommended) - (a.method === recommended));
const methods = () => {
  const list = inOrder(comparison.methods);
  const truth = comparison.judged_by === 'truth';
  const doubtful = !list[0].estimated.reliable;
  const box = part('methods', 'The methods', [`use ${recommended}`],
      'Estimates come from held-out training rows weighted to look like the target' +
      (truth ? '; true values from labelled target rows.' : '. Labels of the target (--truth) would settle it.') +
      (doubtful ? ' Estimates in grey, with a question mark, are guesses: the rows are too few, or the target is too far ' +
                  'from them, for a score or its error to mean anything.' : ''));
  const choice = make('select', {id: 'metric'},
                      ...Object.entries(METRICS).map(([key, name]) => make('option', {value: key}, name)));
  choice.value = metricKey();
  box.append(make('div', {class: 'controls'}, make('label', {}, 'Compare by ', choice)));
  const compared = chart(box, intervals(list, choice.value, recommended), '',
                         'Score of each method with its interval; the table of methods has the numbers.');
  compared.box.style.height = 100 + 34 * list.length + 'px';
  box.append(make('p', {class: 'muted'}, ...explained('Lines are 95% intervals: 1.96 standard errors to either side.')));
  choice.addEventListener('change', () => { compared.options = intervals(list, choice.value, recommended); compared.draw(); });
  // What decides stands first: on a narrow screen the rest is scrolled to.
  const columns = [['method', m => m.method, 'method'],
                   ['result', m => m.method === comparison.best ? 'best' : m.tied ? 'tied' : '', 'text'],
                   ['behind the best', m => m.behind, estimate]];
  for (const [name, get] of [...(truth ? [['true ', m => m.truth]] : []), ['estimated ', m => m.estimated]]) {
    const form = get(list[0]).reliable ? estimate : e => e.value === null ? '–' : estimate(e) + ' ?';
    for (const key of ['error', 'log_loss_bits', 'brier']) columns.push([name + METRICS[key], m => get(m)[key], form]);
  }
  columns.push(['error on training rows', m => m.training_error, estimate], ['loss', m => m.loss, 'text'],
               ['assumption', m => m.generalize, 'text'], ['lambda', m => m.lambda]);
  table(box, 'methods-table', 'Every method, its model selection included; ± one standard error; ★ recommended', columns, list,
        m => m.method === recommended,
        (m, heading) => heading.startsWith('estimated') && doubtful || heading.startsWith('true') && !m.truth.reliable);
  for (const m of list.filter(m => m.choice)) {
    const inner = fold(box, `What ${m.method} tried`);
    inner.append(make('p', {class: 'muted'}, m.choice + '.'));
    table(inner, `tried-${m.method}`, 'Candidates, their held-out losses and their shares in the model (docs/choice.md)', [
      ['features', t => t.features, 'text'], ['assumption', t => t.generalize, 'text'], ['lambda', t => t.lambda],
      ['chosen by', t => t.lambda_choice, 'text'], ['held-out loss', t => t.loss], ['its standard error', t => t.standard_error],
      ['share', t => t.share, percent]], m.selection);
  }
  table(fold(box, 'Promises'), 'certificates-table',
        'What the training problem itself promises, in the method’s own loss (docs/certificate.md)', [
    ['method', m => m.method, 'method'], ['promised bound', m => m.certificate.bound], ['game value', m => m.certificate.game_value],
    ['duality gap', m => m.certificate.gap], ['worst case on the target', m => m.certificate.target_value],
    ['risk on the target', m => m.certificate.target_risk], ['mean weight', m => m.certificate.mean_weight],
    ['effective sample size', m => m.effective_sample_size],
    ['reliable', m => m.certificate.reliable ? 'yes' : 'no', 'text']], list, m => m.method === recommended);
};

const calibrations = () => {
  const list = inOrder(comparison.methods);
  const truth = comparison.judged_by === 'truth';
  const judged = m => truth ? m.truth : m.estimated;
  const own = judged(list[0]);
  const box = part('calibration', 'Is it as sure as it is right?',
      [recommended + ' is ', number(own.confidence, percent), ...own.reliable
          ? [truth ? ' sure and right on ' : ' sure and right on about ', number(own.accuracy, percent)]
          : [' sure; how often it is right is unknown']],
      (truth ? 'On labelled target rows' : 'On held-out training rows, weighted') +
      ': below the dashed line a method is overconfident, above it cautious. The size of a point is its share of the rows. ' +
      'The recommended method is drawn thick.');
  if (own.reliable && own.confidence < own.accuracy && list.some(m => judged(m).calibration_error < own.calibration_error)) {
    box.append(make('p', {id: 'caution'}, `${recommended} is right more often than it says. That is caution, not a fault: it holds back where ` +
        'training rows are few, because nothing there shows whether it is right. Calibration counts this as an error; ' +
        'a surer method looks better here only as long as it happens to be right.'));
  }
  const pair = make('div', {class: 'pair'});
  box.append(pair);
  chart(pair, calibration(list, recommended), 'map', 'How often each method is right against how sure it is; the table beside it has the means.');
  const side = make('div', {class: 'figure'});
  pair.append(side);
  table(side, 'calibration-table', 'Mean confidence and accuracy; ★ recommended', [
    ['method', m => m.method, 'method'], ['sure', m => judged(m).confidence, percent], ['right', m => judged(m).accuracy, percent],
    ['calibration error', m => judged(m).calibration_error]], list, m => m.method === recommended, () => !own.reliable);
};

const maps = () => {
  const planes = [comparison.map, ...comparison.more_maps], classes = comparison.classes;
  const box = part('map', 'What each method believes, and where the data are', ['maps of the columns that matter most'],
      'Two columns vary, other inputs are as in the most typical row of the target. Columns matter that moved and tell the ' +
      'classes apart. Circles are training rows, diamonds target rows; their size is the share of the rows there.');
  const legend = make('p', {});
  if (classes.length === 2) {
    const bar = make('span', {class: 'bar'});
    bar.style.background = `linear-gradient(90deg, ${cellColour(0, 1, 2)}, ${cellColour(0, .5, 2)}, ${cellColour(1, 1, 2)})`;
    legend.append(make('span', {class: 'key'}, 'sure of ' + classes[0], bar, 'sure of ' + classes[1]));
  } else {
    classes.forEach((name, k) => {
      const patch = make('i', {});
      patch.style.background = cellColour(k, 1, classes.length);
      legend.append(make('span', {class: 'key'}, patch, name));
    });
  }
  const plane = make('select', {id: 'plane'}, ...planes.map((map, i) =>
      make('option', {value: i}, `${clip(map.x.name, 30)} and ${clip(map.y.name, 30)}`)));
  box.append(make('div', {class: 'controls'}, make('label', {}, 'Columns ', plane)), legend);
  const pair = make('div', {class: 'pair'});
  box.append(pair);
  const other = planes[0].methods.some(l => l.method === 'lr') && recommended !== 'lr' ? 'lr'
              : (planes[0].methods.find(l => l.method !== recommended) || planes[0].methods[0]).method;
  const sides = [...new Set([recommended, other])].map(start => {
    const choice = make('select', {'aria-label': 'method of the map'});
    const side = make('div', {class: 'figure'}, make('div', {class: 'controls'}, choice));
    pair.append(side);
    const current = () => planes[plane.value];
    const options = () => decisionMap(current(), current().methods.find(l => l.method === choice.value), classes);
    const fill = wanted => {
      const layers = inOrder(current().methods);
      choice.replaceChildren(...layers.map(l => make('option', {value: l.method}, starred(l.method, recommended))));
      choice.value = layers.some(l => l.method === wanted) ? wanted : layers[0].method;
    };
    fill(start);
    const entry = chart(side, options(), 'map', 'Map of the likeliest class and how sure the method is of it.');
    const show = () => { entry.options = options(); entry.draw(); };
    choice.addEventListener('change', show);
    return () => { fill(choice.value); show(); };
  });
  plane.addEventListener('change', () => sides.forEach(again => again()));
};

const glossary = () => {
  const box = part('glossary', 'Glossary', ['what the words mean']);
  box.append(make('dl', {}, ...Object.entries(GLOSSARY).flatMap(([name, text]) =>
      [make('dt', {}, name), make('dd', {id: termId(name)}, text)])));
};
const about = () => {
  const made = report.made || {};
  const entries = [['Made', `${made.date ? made.date + ', ' : ''}covshift ${report.version}`],
                   ['Files', (made.files || []).join(', ')], ['Label', made.label], ['Seed', made.seed],
                   ['Command', made.command && command('called', made.command)]];
  document.getElementById('made').append(...entries.filter(([, value]) => value !== undefined && value !== '')
      .flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]));
};

// --- theme: the system's, until the button says otherwise; paper is light and has one width
const dark = matchMedia('(prefers-color-scheme: dark)');
let chosen = null;
const button = document.getElementById('theme');
const apply = now => {
  document.documentElement.dataset.theme = now;
  button.textContent = now === 'dark' ? 'Light' : 'Dark';
  redraw();
};
const current = () => chosen || (dark.matches ? 'dark' : 'light');
button.addEventListener('click', () => { chosen = current() === 'dark' ? 'light' : 'dark'; apply(chosen); });
dark.addEventListener('change', () => apply(current()));
const onPaper = 40;  // rows of a table; longer ones stay folded
let folded = [];
window.addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open])')]
      .filter(d => d.classList.contains('part') || d.querySelectorAll('tbody tr').length <= onPaper);
  folded.forEach(d => { d.open = true; });
  document.documentElement.classList.add('paper');
  apply('light');
});
window.addEventListener('afterprint', () => {
  folded.forEach(d => { d.open = false; });
  document.documentElement.classList.remove('paper');
  apply(current());
});
document.getElementById('print').addEventListener('click', () => window.print());
document.getElementById('unfold').addEventListener('click', () => {
  const parts = [...document.querySelectorAll('details.part')];
  const open = parts.some(d => !d.open);
  parts.forEach(d => { d.open = open; });
  document.getElementById('unfold').textContent = open ? 'Close all' : 'Open all';
});
window.addEventListener('resize', () => { drawn.forEach(e => e.instance && e.instance.resize()); fitScrolls(); });
document.documentElement.dataset.theme = current();

summary();
reasons();
if (report.kind === 'estimate') estimates();
if (comparison) {
  methods();
  calibrations();
  if (comparison.map) maps();
}
where();
bad();
rowsToSee();
glossary();
about();
apply(current());
document.documentElement.dataset.ready = 'yes';

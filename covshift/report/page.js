'use strict';
// The page: sections, tables and where the charts go. Every number comes from the JSON; a cell keeps
// the number itself in data-value and shows it rounded.

const report = JSON.parse(document.getElementById('data').textContent);
const comparison = report.kind === 'demo' ? report.data.comparison
                 : report.kind === 'compare' ? report.data : null;
const diagnosis = report.kind === 'diagnose' ? report.data : report.data.diagnosis;

const make = (tag, attributes, ...children) => {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'class') element.className = value; else element.setAttribute(key, value);
  }
  element.append(...children.map(c => typeof c === 'object' ? c : document.createTextNode(String(c))));
  return element;
};
const main = document.getElementById('main');
main.textContent = '';
const section = (id, title, explanation) => {
  const box = make('section', {id}, make('h2', {}, title));
  if (explanation) box.append(make('p', {class: 'muted'}, explanation));
  main.append(box);
  return box;
};

// --- charts: drawn again when the theme or the width changes
const drawn = [];
const chart = (parent, options, kind, title) => {
  const box = make('div', {class: 'chart ' + (kind || '')});
  const figure = make('div', {class: 'figure'}, ...(title ? [make('h3', {}, title)] : []), box);
  parent.append(figure);
  const instance = echarts.init(box, null, {renderer: 'svg'});
  const entry = {instance, options, draw: () => instance.setOption(entry.options(theme()), true)};
  entry.draw();
  drawn.push(entry);
  return entry;
};
const redraw = () => drawn.forEach(e => { e.instance.resize(); e.draw(); });
window.addEventListener('resize', () => drawn.forEach(e => e.instance.resize()));

// --- tables: columns are [heading, row => value, form]; form: text, a function, or how to round
const numeric = text => text !== '' && Number.isFinite(Number(text));
const table = (parent, id, caption, columns, rows, mark) => {
  const head = make('tr', {}, ...columns.map(([name, get, form]) => {
    const text = form === 'text' && !rows.every(r => numeric(get(r)));
    return make('th', {scope: 'col', class: (text ? 'text' : '') + (/\S{17}/.test(name) ? ' long' : '')}, name);
  }));
  const body = rows.map(row => {
    const line = make('tr', {}, ...columns.map(([, get, form]) => {
      const value = get(row);
      if (form === 'text') {
        return make('td', {class: numeric(value) ? '' : value.length > 24 ? 'text long' : 'text'}, value);
      }
      const cell = make('td', {}, typeof form === 'function' && value !== null ? form(value) : short(value));
      cell.dataset.value = JSON.stringify(value === undefined ? null : value);
      return cell;
    }));
    if (mark && mark(row)) line.className = 'best';
    return line;
  });
  const grid = make('table', {id}, make('caption', {}, make('span', {}, caption)), make('thead', {}, head),
                    make('tbody', {}, ...body));
  parent.append(make('div', {class: 'scroll', tabindex: 0}, grid));
};
const fold = (parent, title) => {
  const box = make('details', {}, make('summary', {}, title));
  parent.append(box);
  return box;
};
const whole = x => String(x);
// As many decimals as two digits of the error have.
const estimate = e => {
  if (e.value === null) return '–';
  if (!(e.standard_error > 0)) return short(e.value);
  const decimals = Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(e.standard_error))));
  return `${e.value.toFixed(decimals)} ± ${e.standard_error.toFixed(decimals)}`;
};

// --- summary
const TITLES = {diagnose: 'Is my data shifted?', compare: 'Which method, on these data?',
                demo: 'Why a plain model is overconfident, and what to do'};
document.title = 'covshift: ' + report.title;
document.getElementById('title').textContent = TITLES[report.kind] || 'Report';
document.getElementById('subtitle').textContent =
    `${report.title} · ${count(diagnosis.train)} training rows, ${count(diagnosis.target)} target rows`;
document.getElementById('made').textContent =
    `Made by covshift ${report.version}. Everything is in this file; it loads nothing. ` +
    'The same numbers: the command with --json.';

// The metric of the comparison as a key of METRICS.
const metricKey = () => comparison.metric === 'log-loss' ? 'log_loss_bits' : comparison.metric;

const summary = () => {
  const r = diagnosis.recommendation;
  const box = section('summary', 'In short');
  box.append(make('p', {class: 'verdict ' + r.verdict, id: 'verdict'}, r.summary));
  const tiles = make('div', {class: 'tiles'});
  const tile = (big, small) => tiles.append(make('div', {class: 'tile'}, make('b', {}, big), make('span', {}, small)));
  tile(estimate({value: diagnosis.domain_auc, standard_error: diagnosis.domain_auc_standard_error}),
       'domain AUC: 0.5 no shift, 1 no overlap');
  tile(`p = ${short(diagnosis.p_value)}`, diagnosis.shift ? 'there is shift' : 'no shift is visible');
  const worth = diagnosis.effective_sample_size;
  tile(worth < 1000 ? worth.toFixed(1) : count(worth), `effective sample size of ${count(diagnosis.train)} training rows`);
  tile(percent(diagnosis.support.share), `of the target without training support (${percent(diagnosis.support.expected)} if there were no shift)`);
  if (comparison) {
    tile(comparison.recommended, comparison.winner ? 'to use: the best method'
         : 'to use: no clear winner, ' +
           (comparison.recommended === comparison.best ? `the smallest ${METRICS[metricKey()]}`
            : `the default; the smallest ${METRICS[metricKey()]}: ${comparison.best}`));
  }
  box.append(tiles);
  box.append(make('p', {id: 'statement'}, comparison ? comparison.statement : r.why));
  box.append(make('h3', {}, 'Why'), make('ul', {id: 'reasons'}, ...r.reasons.map(x => make('li', {}, x.text))));
  if (r.command) box.append(make('h3', {}, 'Next'), make('code', {id: 'command'}, r.command));
};

// --- where
const where = () => {
  const box = section('where', 'Where: what moved',
      `How far the two samples are apart in each view. The KL of the ${diagnosis.ratio} ratio is what robust-view goes by; ` +
      'the binned KL also sees a change of shape. 0 is no difference.');
  const height = Math.min(25, diagnosis.views.length);
  const bars = chart(box, viewBars(diagnosis.views, diagnosis.view_threshold, diagnosis.ratio), '');
  bars.instance.getDom().style.height = Math.max(180, 90 + 34 * height) + 'px';
  bars.instance.resize();
  const order = [...diagnosis.views].sort((a, b) => Math.max(b.kl, b.kl_binned) - Math.max(a.kl, a.kl_binned));
  table(fold(box, `Table of ${order.length} views`), 'views-table', 'Views, the most shifted first', [
    ['view', v => v.name, 'text'], ['symmetric KL', v => v.kl], ['binned KL', v => v.kl_binned],
    ['hardly moved', v => v.stable ? 'yes' : 'no', 'text']], order);

  const most = [...diagnosis.distributions].sort((a, b) => Math.max(b.kl, b.kl_binned) - Math.max(a.kl, a.kl_binned));
  const next = section('distributions', 'Both distributions',
      'Shares of the rows: training, target, and training weighted by the density ratio (dashed), which should ' +
      'look like the target. What lies outside the range drawn is in the outer bins.');
  const grid = make('div', {class: 'grid'});
  next.append(grid);
  let shown = 0;
  const more = some => {
    for (const f of most.slice(shown, shown + some)) {
      chart(grid, distribution(f), 'small', `${f.name}  ·  KL ${+Math.max(0, f.kl).toFixed(3)}, binned ${+f.kl_binned.toFixed(3)}`);
    }
    shown = Math.min(most.length, shown + some);
  };
  more(6);
  if (shown < most.length) {
    const button = make('button', {type: 'button', id: 'more'}, `Show more of ${most.length} features`);
    button.addEventListener('click', () => { more(12); if (shown === most.length) button.remove(); });
    next.append(make('div', {class: 'controls'}, button));
  }
  table(fold(next, `Table of ${most.length} features`), 'distributions-table', 'Features, the most shifted first', [
    ['feature', f => f.name, 'text'], ['symmetric KL', f => f.kl], ['binned KL', f => f.kl_binned],
    ['its error', f => f.kl_binned_error]], most);
  const means = [...diagnosis.features].sort((a, b) => Math.abs(b.before) - Math.abs(a.before)).slice(0, 200);
  table(fold(next, 'Means before and after weighting'), 'means-table',
        'Means of the encoded columns; “apart” is the distance to the target mean in standard deviations', [
    ['column', m => m.name, 'text'], ['training', m => m.train], ['weighted', m => m.weighted],
    ['target', m => m.target], ['apart', m => m.before], ['after weighting', m => m.after]], means);
};

// --- how bad
const rowTable = (parent, id, caption, rows, extra) => {
  if (rows.length === 0) return;
  table(parent, id, caption, [
    ['target row', r => r.row, whole], ...extra,
    ...rows[0].values.map((v, k) => [v.name, r => r.values[k].value, 'text'])], rows);
};
const bad = () => {
  const box = section('bad', 'How bad: weights and support',
      'Weights far from 1 mean that few training rows stand for much of the target. Rows without support lie ' +
      'where training data do not reach: no method can know the labels there.');
  const pair = make('div', {class: 'pair'});
  box.append(pair);
  chart(pair, weightBars(diagnosis.weights, diagnosis.train), '', 'Weights of the training rows');
  if (diagnosis.scatter) chart(pair, scatter(diagnosis.scatter), '', 'A sample of the rows, on what moved most');
  table(fold(box, 'Heaviest training rows'), 'weights-table', 'Share of the total weight', [
    ['training row', w => w.row, whole], ['share', w => w.share, percent]], diagnosis.largest_weights);
  rowTable(box, 'unsupported-table', `Without training support: ${count(diagnosis.support.rows)} target rows; the farthest`,
           diagnosis.support.examples, [['distance (1: the usual limit)', r => r.distance]]);
  rowTable(box, 'label-table', 'Rows to label first: they stand for the most others',
           diagnosis.recommendation.label_first, [['stands for', r => r.represents, percent]]);
};

// --- methods
const methods = () => {
  const list = comparison.methods;
  const truth = comparison.judged_by === 'truth';
  const judged = m => truth ? m.truth : m.estimated;
  const doubtful = !list[0].estimated.reliable;
  const box = section('methods', 'The methods',
      'Estimates come from held-out training rows weighted to look like the target' +
      (truth ? '; true values from labelled target rows.' : '. Labels of the target (--truth) would settle it.') +
      (doubtful ? ' With a question mark they are guesses: the rows are too few, or the target is too far from them, ' +
                  'for a score or its error to mean anything.' : ''));
  const choice = make('select', {'aria-label': 'metric', id: 'metric'},
                      ...Object.entries(METRICS).map(([key, name]) => make('option', {value: key}, name)));
  choice.value = metricKey();
  box.append(make('div', {class: 'controls'}, make('label', {}, 'Compare by ', choice)));
  const compared = chart(box, intervals(list, choice.value), '');
  compared.instance.getDom().style.height = 100 + 32 * list.length + 'px';
  compared.instance.resize();
  choice.addEventListener('change', () => { compared.options = intervals(list, choice.value); compared.draw(); });
  // What decides stands first: on a narrow screen the rest is scrolled to.
  const columns = [['method', m => m.method, 'text'],
                   ['result', m => m.method === comparison.best ? 'best' : m.tied ? 'tied' : '', 'text'],
                   ['behind the best', m => m.behind, estimate]];
  for (const [name, get] of [['estimated ', m => m.estimated], ...(truth ? [['true ', m => m.truth]] : [])]) {
    const form = get(list[0]).reliable ? estimate : e => e.value === null ? '–' : estimate(e) + ' ?';
    for (const key of ['error', 'log_loss_bits', 'brier']) {
      columns.push([name + METRICS[key], m => get(m)[key], form]);
    }
  }
  columns.push(['loss', m => m.loss, 'text'], ['assumption', m => m.generalize, 'text'], ['lambda', m => m.lambda]);
  table(box, 'methods-table', 'Every method, its model selection included; ± one standard error', columns, list, m => m.method === comparison.best);
  for (const m of list.filter(m => m.choice)) {
    const inner = fold(box, `What ${m.method} tried`);
    inner.append(make('p', {class: 'muted'}, m.choice + '.'));
    table(inner, `tried-${m.method}`, 'Candidates, their held-out losses and their shares in the model (docs/choice.md)', [
      ['features', t => t.features, 'text'], ['assumption', t => t.generalize, 'text'], ['lambda', t => t.lambda],
      ['chosen by', t => t.lambda_choice, 'text'], ['held-out loss', t => t.loss], ['its error', t => t.standard_error],
      ['share', t => t.share, percent]], m.selection);
  }
  table(fold(box, 'Certificates'), 'certificates-table',
        'What the training problem itself promises, in the method’s own loss (docs/certificate.md)', [
    ['method', m => m.method, 'text'], ['promised bound', m => m.certificate.bound], ['game value', m => m.certificate.game_value], ['duality gap', m => m.certificate.gap],
    ['worst case on the target', m => m.certificate.target_value], ['risk on the target', m => m.certificate.target_risk],
    ['mean weight', m => m.certificate.mean_weight], ['effective sample size', m => m.effective_sample_size],
    ['reliable', m => m.certificate.reliable ? 'yes' : 'no', 'text']], list);

  const next = section('calibration', 'Is it as sure as it is right?',
      (truth ? 'On labelled target rows' : 'On held-out training rows, weighted') +
      ': below the dashed line a method is overconfident, above it cautious. The size of a point is its share of the rows.');
  const pair = make('div', {class: 'pair'});
  next.append(pair);
  chart(pair, calibration(list), 'map');
  const side = make('div', {class: 'figure'});
  pair.append(side);
  table(side, 'calibration-table', 'Mean confidence and accuracy', [
    ['method', m => m.method, 'text'], ['sure', m => judged(m).confidence, percent], ['right', m => judged(m).accuracy, percent],
    ['calibration error', m => judged(m).calibration_error]], list, m => m.method === comparison.best);
  if (comparison.map) maps();
};

const maps = () => {
  const map = comparison.map, classes = comparison.classes;
  const box = section('map', 'What each method believes, and where the data are',
      `Over ${map.x.name} and ${map.y.name}, other inputs as in target row ${map.typical_row} (the most typical). ` +
      'Circles are training rows, diamonds target rows; their size is the share of the rows there.');
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
  box.append(legend);
  const pair = make('div', {class: 'pair'});
  box.append(pair);
  const pick = (wanted, other) => {
    const found = map.methods.findIndex(l => l.method === wanted);
    return found >= 0 ? found : Math.min(other, map.methods.length - 1);
  };
  for (const start of [pick('lr', 0), pick('robust-view', 1)]) {
    const side = make('div', {class: 'figure'});
    const choice = make('select', {'aria-label': 'method of the map'},
                        ...map.methods.map((l, i) => make('option', {value: i}, l.method)));
    choice.value = start;
    side.append(make('div', {class: 'controls'}, choice));
    pair.append(side);
    const entry = chart(side, decisionMap(map, map.methods[start], classes), 'map');
    choice.addEventListener('change', () => {
      entry.options = decisionMap(map, map.methods[choice.value], classes);
      entry.draw();
    });
  }
};

// --- theme: the system's, until the button says otherwise; paper is light
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
let folded = [];
window.addEventListener('beforeprint', () => {
  folded = [...document.querySelectorAll('details:not([open])')];
  folded.forEach(d => { d.open = true; });
  apply('light');
});
window.addEventListener('afterprint', () => {
  folded.forEach(d => { d.open = false; });
  apply(current());
});
document.getElementById('print').addEventListener('click', () => window.print());
document.documentElement.dataset.theme = current();

summary();
if (comparison && report.kind !== 'diagnose') methods();
where();
bad();
apply(current());
document.documentElement.dataset.ready = 'yes';

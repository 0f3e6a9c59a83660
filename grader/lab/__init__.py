"""`grade lab`: the lesson's experiments with a student's own module, a page of plots and the figures behind them.

figures      what was measured: the record that lab.json holds
drawn        inputs and weights, from the seed
bench        a module in a worker: it is asked, and what it answers is read
opponent     PyTorch's own module in the place of a student's: text for a worker, and nothing that runs here
timing       seconds of a call, without those of the way to the worker and back
scaling      experiment 1: why scores are divided by the square root of d
future       experiment 2: what the causal mask hides
heads        experiment 3: what more heads cost
against      experiment 4: the same attention in PyTorch
experiments  all four, one after the other
sizes        how large they are
settled      what a command line asks for
session      workers to make them in, and the record that comes of it
amounts      numbers with their units, as text
said         what the figures show, in sentences
tables       the same, as tables
plots        the plots, by matplotlib; imported here alone
page         the page
lab_file     lab.json as text, its schema, and the folder that it is written to

The student's code runs in workers only. What it answers is measured here.
"""

"""The roster: who is in the class, from a CSV file, and whose submission is whose.

columns  what the heads of columns mean
read     the file, line by line, with every fault named
join     submissions and people put together; who is missing, and who is a stranger
"""

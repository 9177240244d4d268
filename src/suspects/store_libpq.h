// SPDX-License-Identifier: Apache-2.0
/*
 * libpq, loaded when a store turns out to be a PostgreSQL database. With it come thirty libraries,
 * which every command would have to wait for otherwise.
 *
 *     err = libpq_load();
 *     ... PQexec(...) as ever ...
 */
#ifndef SUSPECTS_STORE_LIBPQ_H
#define SUSPECTS_STORE_LIBPQ_H

#include <libpq-fe.h>

struct error;

struct libpq {
    __typeof__(PQcancel) *cancel;
    __typeof__(PQclear) *clear;
    __typeof__(PQcmdTuples) *cmdTuples;
    __typeof__(PQconnectdb) *connectdb;
    __typeof__(PQconsumeInput) *consumeInput;
    __typeof__(PQenterPipelineMode) *enterPipelineMode;
    __typeof__(PQerrorMessage) *errorMessage;
    __typeof__(PQexec) *exec;
    __typeof__(PQexitPipelineMode) *exitPipelineMode;
    __typeof__(PQfinish) *finish;
    __typeof__(PQfreeCancel) *freeCancel;
    __typeof__(PQgetCancel) *getCancel;
    __typeof__(PQgetResult) *getResult;
    __typeof__(PQgetlength) *getlength;
    __typeof__(PQgetvalue) *getvalue;
    __typeof__(PQisBusy) *isBusy;
    __typeof__(PQpipelineSync) *pipelineSync;
    __typeof__(PQprepare) *prepare;
    __typeof__(PQresultErrorField) *resultErrorField;
    __typeof__(PQresultStatus) *resultStatus;
    __typeof__(PQsendQueryPrepared) *sendQueryPrepared;
    __typeof__(PQsetNoticeReceiver) *setNoticeReceiver;
    __typeof__(PQsetSingleRowMode) *setSingleRowMode;
    __typeof__(PQsocket) *socket;
    __typeof__(PQstatus) *status;
};

extern const struct libpq *libpq; // once loaded

struct error *libpq_load(void);

#define PQcancel            libpq->cancel
#define PQclear             libpq->clear
#define PQcmdTuples         libpq->cmdTuples
#define PQconnectdb         libpq->connectdb
#define PQconsumeInput      libpq->consumeInput
#define PQenterPipelineMode libpq->enterPipelineMode
#define PQerrorMessage      libpq->errorMessage
#define PQexec              libpq->exec
#define PQexitPipelineMode  libpq->exitPipelineMode
#define PQfinish            libpq->finish
#define PQfreeCancel        libpq->freeCancel
#define PQgetCancel         libpq->getCancel
#define PQgetResult         libpq->getResult
#define PQgetlength         libpq->getlength
#define PQgetvalue          libpq->getvalue
#define PQisBusy            libpq->isBusy
#define PQpipelineSync      libpq->pipelineSync
#define PQprepare           libpq->prepare
#define PQresultErrorField  libpq->resultErrorField
#define PQresultStatus      libpq->resultStatus
#define PQsendQueryPrepared libpq->sendQueryPrepared
#define PQsetNoticeReceiver libpq->setNoticeReceiver
#define PQsetSingleRowMode  libpq->setSingleRowMode
#define PQsocket            libpq->socket
#define PQstatus            libpq->status

#endif
